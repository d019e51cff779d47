-- KEYS[1] is a record. ARGV: the SHA-1 of what it is thought to be; what it becomes, '' for only a look; its life in ms.
local now, v, swapped = redis.call('TIME'), redis.pcall('GET', KEYS[1]), 0
v = v or ''
if type(v) == 'table' or #v > 262144 then -- it is of another type, or no record
  redis.call('DEL', KEYS[1])
  v = ''
end
if ARGV[2] ~= '' and redis.sha1hex(v) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  v, swapped = '', 1
end
return {swapped, now[1] * 1000000 + now[2], v}
