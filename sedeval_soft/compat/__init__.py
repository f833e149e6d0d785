"""Other tools: profiles that follow their arithmetic exactly, and a second opinion from sed_eval itself."""
