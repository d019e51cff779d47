-- A step of a limiter, as (*State).Step of internal/pace takes it, on this server's
-- clock. A test compares the two: what is changed there is changed here.
-- KEYS: the place. ARGV: op, most, start, horizon, version, span, n.
local op, most, start, horizon = ARGV[1], ARGV[2] + 0, ARGV[3] + 0, ARGV[4] + 0 -- faster than tonumber
local version, span, n = ARGV[5] + 0, ARGV[6] + 0, ARGV[7] + 0
local second, keep = 1000000, 600000 -- microseconds, milliseconds
local min, max, floor, ceil = math.min, math.max, math.floor, math.ceil
local time = redis.call('TIME')
local now = time[1] * second + time[2]

-- Integers are digits; other numbers may have more.
local pattern = '^2 (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ' ..
  '([%d.e+-]+) ([%d.e+-]+) ([%d.e+-]+) ([%d.e+-]+) ([%d.e+-]+) ([01])(.*)$'
local far, most_integer = now + horizon, 4503599627370496
local was, current, since, closed, reset, last, begun, base, pace, here, before, knee, first, rest =
  string.match(redis.call('GET', KEYS[1]) or '', pattern)
local free, sound = {}, false
if was then
  was, current, since, closed = was + 0, current + 0, since + 0, closed + 0
  reset, last, begun, first = reset + 0, last + 0, begun + 0, first + 0
  base, pace, here, before, knee = tonumber(base), tonumber(pace), tonumber(here), tonumber(before), tonumber(knee)
  sound = base and pace and here and before and knee and was > 0
end
if sound then
  local least = min(base, pace, here, before, knee)
  local largest = max(was, current, since, closed, reset, last, begun, base, pace, here, before, knee)
  sound = least >= 0 and largest <= most_integer
end
if sound and rest ~= '' then
  local earlier = 1
  rest = string.gsub(rest, ' (%d+)', function(slot)
    slot = tonumber(slot)
    sound = sound and slot >= earlier and slot <= most_integer
    earlier = slot
    free[#free + 1] = slot
    return ''
  end)
  sound = sound and rest == '' and #free <= 8
end
if not sound then
  was, current, since, closed, reset, last, begun = now, now, now, 0, 0, 0, 0
  base, pace, here, before, knee, first, free = start, 0, 0, 0, 0, 0, {}
end

-- settle
local back = was - now
if back > 0 then
  since, closed, reset = max(0, since - back), max(0, closed - back), max(0, reset - back)
  last, begun = max(0, last - back), max(0, begun - back)
  free = {}
end
since, closed, reset, last = min(since, far), min(closed, far), min(reset, far), min(last, far)
begun, current = min(begun, now), min(current, far)
if base ~= 0 then base = min(max(base, 1 / 60), 1e9) end
here, knee = min(here, 1e9), min(knee, 1e9)

local function rate(at)
  if base == 0 then return most end
  local from, age = base, max(0, at - since)
  while from < knee and age > 0 do
    local window = max(second, second / from)
    if age >= window then from = min(2 * from, knee) end
    age = max(0, age - window)
  end
  local grown = 0.03 * age / second
  local doubled = floor(grown)
  local r = from * 2 ^ doubled * (1 + (grown - doubled))
  if most > 0 then return min(r, most) end
  if r > 1e9 then return 0 end
  return r
end

local function gap(r)
  if r == 0 then return 0 end
  return ceil(min(second / r, 4503599627370496))
end

local function turn()
  local age = now - begun
  if age >= 2 * second then
    begun, here, before, first = now, 0, 0, 1
  elseif age >= second then
    begun, here, before, first = begun + second, 0, here, 0
  end
end

local function void()
  current, free, last = max(current + 1, now), {}, min(last, now)
end

local function close(till)
  if till > closed then
    base, since, closed = rate(now), till, till
    void()
  end
end

local at, holds, holder = 0, 0, version == current
if op == '1' then -- reserve
  while free[1] and holds == 0 do
    at = table.remove(free, 1)
    if at >= now then holds = 1 end
  end
  if holds == 0 then
    local next = 0
    if last > 0 then
      local paced = reset
      if pace > 0 then paced = min(last + gap(pace), reset) end
      next = max(paced, last + gap(rate(last)))
    end
    if now - next > second / 10 then next = now end
    at = max(closed, next)
    if at > far then
      at = far
    else
      last, holds = at, 1
    end
  end
  if holds == 1 and at <= now and n > 0 then
    turn()
    here, last, holds = here + 1, max(last, now - second / 10), 2
  end
elseif op == '2' then -- release
  local slot = now + span
  if holder and slot <= last then
    local i = 1
    while free[i] and free[i] <= slot do i = i + 1 end
    table.insert(free, i, slot)
    free[9] = nil
  end
elseif op == '3' then -- confirm
  if holder then
    turn()
    here, last, holds = here + 1, max(last, now - second / 10), 1
  end
elseif op == '4' then -- throttled
  if holder then
    local r = rate(now)
    local half = 0.5 * r
    if now - closed >= second or r == 0 then
      turn()
      local age, sent = (now - begun) / second, 0
      if first == 1 then
        sent = max(here, (here - 1) / max(age, 0.05))
      else
        sent = here + before * (1 - age)
      end
      sent = max(1, sent)
      if r == 0 or sent < r then r = sent end
    end
    base, knee, since = max(0.5 * r, 1 / 60), half, now
    void()
  end
  if span > 0 then close(now + min(span, horizon)) end
elseif op == '5' and span > 0 then -- remaining
  pace, reset = min(max(n, 0) * second / span, 1e9), now + min(span, horizon)
  if n <= 0 then close(reset) end
end

if op ~= '0' then
  local record = string.format('2 %d %d %d %d %d %d %d %.17g %.17g %.17g %.17g %.17g %d',
    now, current, since, closed, reset, last, begun, base, pace, here, before, knee, first)
  for _, slot in ipairs(free) do record = record .. string.format(' %d', slot) end
  redis.call('SET', KEYS[1], record, 'PX', keep + ceil((max(now, closed, reset, last) - now) / 1000))
end

local shut, from = 0, now
if closed > now then shut, from = closed, closed end
local outlook = rate(from)
if from < reset and (outlook == 0 or pace < outlook) then outlook = pace end
return string.format('%d %d %d %d %d %.17g', now, current, holds, at, shut, outlook)
