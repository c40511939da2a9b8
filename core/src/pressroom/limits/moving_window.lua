-- One moving window of weighted requests.
--
-- KEYS[1]  a list: how much is used, then the time and the amount of each counted request, oldest first
-- ARGV     operation (take, give_back or peek), limit, length of the window, amount, now
--
-- Amounts are in hundredths of a request, times in microseconds; `now` is empty where the server's clock counts.
-- Returns whether the request fits (1 or 0), how much is used, and the time until one whole request more is free.

local REQUEST = 100
local LONGEST_READ = 512  -- list elements read at once, two for each request

local key = KEYS[1]
local operation = ARGV[1]
local limit, span, amount = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local now = tonumber(ARGV[5])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local head = redis.pcall('LINDEX', key, 0)
local used = type(head) == 'string' and tonumber(head)
if not used or used <= 0 then
  if head then redis.call('DEL', key) end  -- something else's key
  used = 0
end

local function set_used()
  redis.call('LSET', key, 0, used)
end

-- Calls visit(time, amount) for each request, oldest first, until it returns true; returns how many came before that.
-- Mostly the first one is enough, so that little is read at first.
local function each(visit)
  local passed, length = 0, 2
  while true do
    local from = 1 + 2 * passed
    local elements = redis.call('LRANGE', key, from, from + length - 1)
    for i = 1, #elements, 2 do
      if visit(tonumber(elements[i]), tonumber(elements[i + 1])) then return passed end
      passed = passed + 1
    end
    if #elements < length then return passed end
    length = math.min(length * 4, LONGEST_READ)
  end
end

local function forget()
  local left = 0
  local gone = each(function(time, counted)
    if time + span > now then return true end
    left = left + counted
  end)
  if gone == 0 then return end
  used = used - left
  -- The amount of the last one that left stays at the head, where how much is used overwrites it.
  redis.call('LTRIM', key, 2 * gone, -1)
  if used > 0 then set_used() else redis.call('DEL', key) end
end

local function add()
  if used == 0 then redis.call('RPUSH', key, 0) end
  used = used + amount
  redis.call('RPUSH', key, string.format('%.0f', now), amount)
  set_used()
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(span / 1000)))
end

local function remove_newest()
  local length = redis.call('LLEN', key)
  for index = length - 1, 2, -2 do
    if tonumber(redis.call('LINDEX', key, index)) == amount then
      if index == length - 1 then
        redis.call('RPOP', key, 2)
      else
        redis.call('LSET', key, index, 'x')
        redis.call('LSET', key, index - 1, 'x')
        redis.call('LREM', key, -2, 'x')
      end
      used = used - amount
      if used > 0 then set_used() else redis.call('DEL', key) end
      return
    end
  end
end

-- The time until no more than `most` is used.
local function wait(most)
  local excess, left = used - most, now
  if excess <= 0 then return 0 end
  each(function(time, counted)
    excess = excess - counted
    left = time + span
    return excess <= 0
  end)
  return math.max(left - now, 0)
end

if used > 0 then forget() end
local fits
if operation == 'take' then
  fits = used + amount <= limit
  if fits then add() end
else
  if operation == 'give_back' and used > 0 then remove_newest() end
  fits = used + REQUEST <= limit
end

local wanted = (math.floor((limit - used) / REQUEST) + 1) * REQUEST
if operation == 'take' and not fits then wanted = math.max(wanted, amount) end
return { fits and 1 or 0, used, wait(math.max(limit - wanted, 0)) }
