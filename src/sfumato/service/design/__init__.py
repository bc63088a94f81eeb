"""What a wish for privacy or precision gives, worked out before any answer is collected: ``POST /v1/design``."""
