-- The rules of the store for one group: what store.rs says in Rust.
-- KEYS: run, live, findings, orders, then the votes of each report's breaker.
-- ARGV: what is asked, as JSON; PUBLISH or SPUBLISH; the channel.
local ask = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSETNX', KEYS[1], 'id', ask.run)
local run, me = redis.call('HGET', KEYS[1], 'id'), ask.instance
if ask.percent > 0 then redis.call('ZADD', KEYS[2], now, me) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 15000)
local live = redis.call('ZCARD', KEYS[2])
-- What lay in a buffer while this server was stopped, or its network dead, is no longer true.
if ask.at and now - ask.at > 2000 then ask.reports = {} end
local needed, published, reply = math.max(ask.quorum, math.ceil(live * ask.percent / 100)), {}, {}
-- Whether a finding, or an order, lasts: a finding for the time of so many probes more.
local function lasts(kept, probes) return now < kept.ends + probes * (kept.probe or 0) end
-- Where nobody is to probe others wait for no probe.
local function in_force(kept) return lasts(kept, kept.holder == '' and 0 or 1) end
local function told(breaker, kept)
  -- Whoever hears that it is negative takes it for nothing.
  if not kept.epoch then return { order = breaker, action = kept.action, left = kept.ends - now, reason = kept.reason, id = kept.id } end
  return { open = breaker, epoch = kept.epoch, left = kept.ends - now, probe = kept.probe, holder = kept.holder, live = live }
end
local function lives_for(key, ms) redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), ms)) end
local function keep(key, breaker, kept, ms)
  redis.call('HSET', key, breaker, cjson.encode(kept))
  lives_for(key, ms)
  table.insert(published, told(breaker, kept))
end
for i, r in ipairs(ask.reports) do
  local f = cjson.decode(redis.call('HGET', KEYS[3], r.breaker) or '{"ends":0}')
  if not lasts(f, 10) then f = nil end
  local votes, left, is_mine = KEYS[4 + i], r.left or 0, f and f.holder == me
  if r.news == 'order' or r.news == 'withdraw' then
    -- An order that is withdrawn is one without an action, told for as long as it would have lasted.
    local ends = r.left and now + left or cjson.decode(redis.call('HGET', KEYS[4], r.breaker) or '{"ends":0}').ends
    keep(KEYS[4], r.breaker, { action = r.action, ends = ends, reason = r.reason, id = r.id }, left)
  elseif r.news == 'well' and f and (is_mine and f.epoch == r.epoch or not in_force(f)) then
    redis.call('DEL', votes)
    redis.call('HDEL', KEYS[3], r.breaker)
    table.insert(published, { look = r.breaker, epoch = f.epoch })
    f = nil
  elseif r.news == 'open' or r.news == 'still' then
    redis.call('ZADD', votes, now + left + r.probe, me)
    redis.call('ZREMRANGEBYSCORE', votes, '-inf', now)
    lives_for(votes, left + r.probe)
    local is_due = f and not is_mine and not in_force(f) and f.last ~= me
    -- A vote that the holder repeats says nothing new.
    if is_due or is_mine and r.news == 'open' or not f and redis.call('ZCARD', votes) >= needed then
      -- After a probe that failed it is the next voter's turn.
      local first = redis.call('ZREVRANGE', votes, 0, 1)
      local holder = is_mine and (first[1] ~= me and first[1] or first[2] or '') or me
      -- By the clock, so that a replica that missed the newest does not begin below it.
      local epoch = math.max((tonumber(redis.call('HGET', KEYS[1], 'epoch')) or 0) + 1, now)
      redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', epoch))
      f = { epoch = epoch, ends = now + left, probe = r.probe, holder = holder, last = me }
      keep(KEYS[3], r.breaker, f, left + 10 * r.probe)
    end
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
