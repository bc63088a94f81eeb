# make demo: the main job end to end.  make test: the tests.  Both set themselves up in .venv.
BIN := .venv/bin

.PHONY: demo test check bench compare gallery docs clean

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

compare: .venv/.ready
	-$(BIN)/sfumato bench counting density_speed.em estimating.loading randomizing.keyed --compare

gallery: .venv/.ready
	$(BIN)/sfumato reproduce --fast

docs: .venv/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "the site: docs/_build/html/index.html"

clean:
	rm -rf .venv demo gallery docs/_build docs/gallery .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

.venv/.ready: pyproject.toml constraints.txt scripts/setup
	bash scripts/setup

.venv/.docs: .venv/.ready
	SFUMATO_EXTRAS=$${SFUMATO_EXTRAS:-dev,docs} bash scripts/setup
	touch .venv/.docs
