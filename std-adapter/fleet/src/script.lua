-- The rules of the store for one group: what nanobreaker's fleet/store.rs says in Rust.
-- KEYS: run, live, findings, orders, then the votes of each report's breaker.
-- ARGV: what is asked, as JSON; PUBLISH or SPUBLISH; the channel.
local ask = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSETNX', KEYS[1], 'id', ask.run)
local run, me, live = redis.call('HGET', KEYS[1], 'id'), ask.instance, 0
if ask.percent > 0 then
  redis.call('ZADD', KEYS[2], now, me)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 15000)
  live = redis.call('ZCARD', KEYS[2])
end
-- What lay in a buffer while this server was stopped, or its network dead, is no longer true.
if ask.at and now - ask.at > 2000 then ask.reports = {} end
local needed = math.max(ask.quorum, math.ceil(live * ask.percent / 100))
local published, reply = {}, {}
-- Whether a finding, or an order, lasts: a finding for the time of so many probes more.
local function lasts(kept, probes) return now < kept.ends + probes * (kept.probe or 0) end
-- Where nobody is to probe others wait for no probe.
local function in_force(kept) return lasts(kept, kept.holder == '' and 0 or 1) end
local function told(breaker, kept)
  local left = math.max(kept.ends - now, 0)
  if kept.action then return { order = breaker, action = kept.action, left = left, reason = kept.reason, id = kept.id } end
  return { open = breaker, epoch = kept.epoch, left = left, probe = kept.probe, holder = kept.holder, live = live }
end
local function lives_for(key, ms) redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), ms)) end
local function keep(key, breaker, kept, ms)
  redis.call('HSET', key, breaker, cjson.encode(kept))
  lives_for(key, ms)
  table.insert(published, told(breaker, kept))
end
for i, r in ipairs(ask.reports) do
  local votes, json, holder = KEYS[4 + i], redis.call('HGET', KEYS[3], r.breaker), nil
  local f = json and cjson.decode(json)
  if f and not lasts(f, 10) then f = nil end
  if r.news == 'order' then
    keep(KEYS[4], r.breaker, { action = r.action, ends = now + r.left, reason = r.reason, id = r.id }, r.left)
  elseif r.news == 'withdraw' then
    redis.call('HDEL', KEYS[4], r.breaker)
    table.insert(published, { order = r.breaker })
  elseif r.news == 'well' and f and (f.holder == me and f.epoch == r.epoch or not in_force(f)) then
    redis.call('DEL', votes)
    redis.call('HDEL', KEYS[3], r.breaker)
    table.insert(published, { look = r.breaker, epoch = f.epoch })
    f = nil
  elseif r.news == 'open' or r.news == 'still' then
    redis.call('ZADD', votes, now + r.left + r.probe, me)
    redis.call('ZREMRANGEBYSCORE', votes, '-inf', now)
    lives_for(votes, r.left + r.probe)
    if f and f.holder == me then
      -- Its probe failed: the next voter's turn. A vote repeated says nothing new.
      local first = redis.call('ZREVRANGE', votes, 0, 1)
      holder = r.news == 'open' and (first[1] ~= me and first[1] or first[2] or '') or nil
    elseif f and not in_force(f) and f.last ~= me or not f and redis.call('ZCARD', votes) >= needed then
      holder = me
    end
  end
  if holder then
    -- By the clock, so that a replica that missed the newest does not begin below it.
    local epoch = math.max((tonumber(redis.call('HGET', KEYS[1], 'epoch')) or 0) + 1, now)
    redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', epoch))
    f = { epoch = epoch, ends = now + r.left, probe = r.probe, holder = holder, last = me }
    keep(KEYS[3], r.breaker, f, r.left + 10 * r.probe)
  end
  if f and in_force(f) then table.insert(reply, told(r.breaker, f)) end
end
if #published > 0 then redis.call(ARGV[2], ARGV[3], cjson.encode({ run = run, said = published })) end
for _, key in ipairs(ask.sync and { KEYS[3], KEYS[4] } or {}) do
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    local kept = cjson.decode(all[i + 1])
    if in_force(kept) then table.insert(reply, told(all[i], kept)) end
    if not lasts(kept, 10) then redis.call('HDEL', key, all[i]) end
  end
end
return cjson.encode({ run = run, now = now, said = #reply > 0 and reply or nil })
