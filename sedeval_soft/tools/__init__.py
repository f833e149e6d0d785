"""What is done with tables beside scoring them: looked at, mended, converted."""
