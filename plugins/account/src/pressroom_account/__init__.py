"""What an account has, used and did."""
