/* Derives the recipe for an instruction from the state before it. */
#pragma once
#include "unwind/recipe.h"
#include "unwind/state.h"

struct recipe choose_recipe(const struct state *s, const struct arch *arch);
