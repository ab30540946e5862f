-- Recursion, planets (floating point, tables), strings, closures. usage: work.lua ROUNDS
local function fibonacci(n)
  if n < 2 then return n end
  return fibonacci(n - 1) + fibonacci(n - 2)
end

local function planets(steps)
  local bodies = {}
  for i = 1, 5 do
    bodies[i] = { x = i, y = i * i / 3, z = 1 / i, vx = 0, vy = 0.01 * i, vz = 0, mass = 1 / i }
  end
  for _ = 1, steps do
    for i = 1, #bodies do
      local a = bodies[i]
      for j = i + 1, #bodies do
        local b = bodies[j]
        local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
        local square = dx * dx + dy * dy + dz * dz + 0.01
        local pull = 0.001 / (square * math.sqrt(square))
        a.vx, a.vy, a.vz = a.vx - dx * b.mass * pull, a.vy - dy * b.mass * pull, a.vz - dz * b.mass * pull
        b.vx, b.vy, b.vz = b.vx + dx * a.mass * pull, b.vy + dy * a.mass * pull, b.vz + dz * a.mass * pull
      end
    end
    for _, b in ipairs(bodies) do
      b.x, b.y, b.z = b.x + 0.001 * b.vx, b.y + 0.001 * b.vy, b.z + 0.001 * b.vz
    end
  end
  return bodies[1].x
end

local function strings(count)
  local words, seen = {}, {}
  for i = 1, count do
    words[#words + 1] = string.format("%d:%s", i * 7919 % 1009, ("abcdefghij"):sub(i % 9 + 1))
  end
  for word in table.concat(words, " "):gmatch("%d+:%a+") do
    seen[word] = (seen[word] or 0) + 1
  end
  table.sort(words, function(a, b) return a < b end)
  return words[1] .. words[#words], #words
end

for _ = 1, tonumber(arg[1]) do
  print(fibonacci(24), string.format("%.9f", planets(6000)), strings(12000))
end
