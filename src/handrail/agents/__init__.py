"""The round loop and what it is made of: tools, strategies, steering, approval, taint, budgets."""
