"""Other tools: profiles that follow their arithmetic exactly, and second opinions from themselves."""
