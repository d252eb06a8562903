  local adapters = require("codecompanion.config").adapters
  for adapter_name, original in pairs(adapters and adapters.acp or {}) do
    if adapter_name ~= "opts" then
      adapters.acp[adapter_name] = function(...)
        local adapter = original
        if type(adapter) == "function" then adapter = adapter(...) end
        if type(adapter) == "string" then adapter = require("codecompanion.adapters.acp").extend(adapter) end
        if type(adapter) ~= "table" or type(adapter.commands) ~= "table" then return adapter end
        local commands = {}
        for key, command in pairs(adapter.commands) do commands[key] = wrapped(command) end
        adapter.commands = commands
        return adapter
      end
    end
  end
