  local providers = require("{{config}}").acp_providers or {}
  for provider_name, provider in pairs(providers) do
    if type(provider) == "table" and type(provider.command) == "string" then
      local command = { provider.command }
      vim.list_extend(command, provider.args or {})
      local words = wrapped(command)
      providers[provider_name] = vim.tbl_extend("force", provider, {
        command = words[1],
        args = vim.list_slice(words, 2),
      })
    end
  end
