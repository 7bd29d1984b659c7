-- Sends the requests of a file in order, repeatedly; each line is METHOD PATH [BODY].
-- usage: wrk … -s requests.lua URL -- FILE TOKEN

local requests, position = {}, 0

function init(args)
  local head = ' HTTP/1.1\r\nHost: ' .. wrk.headers['Host'] .. '\r\nAuthorization: ' .. args[2] .. '\r\n'
  for line in io.lines(args[1]) do
    local method, path, body = line:match('^(%S+) (%S+) ?(.*)$')
    local request = method .. ' ' .. path .. head
    if body ~= '' then
      request = request .. 'Content-Type: application/json\r\nContent-Length: ' .. #body .. '\r\n'
    end
    requests[#requests + 1] = request .. '\r\n' .. body
  end
end

function request()
  position = position % #requests + 1
  return requests[position]
end

-- Prints the result as the last line; times of wrk are in microseconds.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"responses":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"failures":%d}\n',
    summary.requests,
    summary.duration / 1e6,
    latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout
  ))
end
