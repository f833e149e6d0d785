"""What is doubtful in a table, or in a system output beside a reference, though it can be scored.

A check has a code, a function that finds rows, and its messages: `evaluate` counts the rows, and `validate`
names the place of each, so that both find the same.
"""
