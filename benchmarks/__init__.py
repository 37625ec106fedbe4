"""Speed, measured as ratios in one run against a named peer. Never a test: machines are shared and noisy."""
