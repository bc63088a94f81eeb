"""The routes of the API, a file for each kind of thing; see docs/http-api.md."""
