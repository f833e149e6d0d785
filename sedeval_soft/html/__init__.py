"""Pages of HTML that need nothing else: a report, computed from what it embeds, and a leaderboard's site."""
