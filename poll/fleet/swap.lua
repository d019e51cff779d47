-- A look at what is shared of a question, on this server's clock. It becomes what the caller
-- makes of it, unless it has changed since the caller looked.
-- KEYS: the question, its channel. ARGV: of which time an answer is known; then, if it is to
-- change, what it was, what it becomes, for how many milliseconds, whether that is told, and
-- the answer if that changes, too.
local time = redis.call('TIME')
local now = string.format('%d', time[1] * 1000000 + time[2])
local held = redis.pcall('HMGET', KEYS[1], 's', 'b')
if held.err then
  redis.call('DEL', KEYS[1])
  held = {}
end
local state, answer = held[1] or '', held[2] or ''
if #state > 200 or string.find(state, '\n') then state = '' end
if #ARGV > 1 and state == ARGV[2] then
  state = ARGV[3]
  if ARGV[6] then
    redis.call('HSET', KEYS[1], 's', state, 'b', ARGV[6])
  else
    redis.call('HSET', KEYS[1], 's', state)
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  if ARGV[5] == '1' then -- who may not publish shares all the same
    redis.pcall('PUBLISH', KEYS[2], now .. ' 1 ' .. state .. '\n' .. (ARGV[6] or ''))
  end
  return now .. ' 1 ' .. state .. '\n'
end
local begun = string.match(state, '^1 (%d+) ')
if not begun or begun + 0 <= ARGV[1] + 0 or #answer > 100000 then answer = '' end
return now .. ' 0 ' .. state .. '\n' .. answer
