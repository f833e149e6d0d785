"""What all thresholds together say: average precision, areas under the ROC, rates where one is fixed."""
