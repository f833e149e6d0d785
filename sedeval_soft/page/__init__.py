"""A report: one page of HTML that needs nothing else, with what it shows computed from what it embeds."""
