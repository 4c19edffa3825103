# verdict: CE
"""The line that is shown for an error is full of escape sequences and markup."""

x = "[2J<script>alert(1)</script>‮" broken
