/* From what is known at an instruction to the recipe for it. */
#pragma once
#include "unwind/recipe.h"
#include "unwind/state.h"

struct recipe choose_recipe(const struct state *s, const struct arch *arch);
