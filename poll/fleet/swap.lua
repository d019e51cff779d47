-- KEYS[1] is a record. ARGV: the expected record; the next record, or '' to read only; how long it is kept, in ms.
local now, v, swapped = redis.call('TIME'), redis.pcall('GET', KEYS[1]), 0
v = v or ''
if type(v) == 'table' or #v > 262144 then -- another type, or not a record
  redis.call('DEL', KEYS[1])
  v = ''
end
if ARGV[2] ~= '' and v == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  v, swapped = '', 1
end
return {swapped, now[1] * 1000000 + now[2], v}
