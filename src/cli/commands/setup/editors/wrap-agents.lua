-- Written by `acp-skills setup {{module}}`; `--undo` removes this file.
local wrapper = { {{wrapper}} }

-- The words of a command that starts an agent, through acp-skills.
local function wrapped(command)
  if type(command) ~= "table" or type(command[1]) ~= "string" then return command end
  for index, word in ipairs(command) do
    if word == "--" or index > 3 then break end
    if word == wrapper[2] or word:match("acp%-skills$") then return command end
  end
  local words = vim.deepcopy(wrapper)
  vim.list_extend(words, command)
  return words
end

local function wrap_configured()
{{body}}end

local function attach(plugin)
  local setup = plugin.setup
  plugin.setup = function(...)
    local result = setup(...)
    wrap_configured()
    return result
  end
end

local name = "{{module}}"
if package.loaded[name] then
  attach(package.loaded[name])
  wrap_configured()
else
  package.preload[name] = function()
    package.preload[name] = nil
    package.loaded[name] = nil
    local plugin = require(name)
    attach(plugin)
    return plugin
  end
end
