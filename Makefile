# make demo: the main job end to end.  make test: the tests.  Both set themselves up in .venv.
BIN := .venv/bin

.PHONY: demo test check bench clean

demo: .venv/.ready
	$(BIN)/sfumato demo

test: .venv/.ready
	$(BIN)/python -m pytest -n auto $(ARGS)

check: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.ready
	$(BIN)/sfumato bench

clean:
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

.venv/.ready: pyproject.toml constraints.txt scripts/setup
	bash scripts/setup
