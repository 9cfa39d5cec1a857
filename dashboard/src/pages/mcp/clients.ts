export interface AgentClient {
  readonly name: string;
  /** Path of its configuration file. */
  readonly file: string;
  readonly code: string;
}

/** Configurations of well-known clients. A test compares them with `docs/mcp.md`. */
export function clientsFor(origin: string): readonly AgentClient[] {
  const url = `${origin}/api/v1/mcp`;
  return [
    {
      name: 'Claude Code',
      file: '.mcp.json',
      code: `{
  "mcpServers": {
    "switchboard": {
      "type": "http",
      "url": "${url}",
      "headers": { "Authorization": "Bearer \${SWITCHBOARD_KEY}" }
    }
  }
}`,
    },
    {
      name: 'VS Code',
      file: '.vscode/mcp.json',
      code: `{
  "servers": {
    "switchboard": {
      "type": "http",
      "url": "${url}",
      "headers": { "Authorization": "Bearer \${env:SWITCHBOARD_KEY}" }
    }
  }
}`,
    },
    {
      name: 'Cursor',
      file: '.cursor/mcp.json',
      code: `{
  "mcpServers": {
    "switchboard": {
      "url": "${url}",
      "headers": { "Authorization": "Bearer \${env:SWITCHBOARD_KEY}" }
    }
  }
}`,
    },
    {
      name: 'Codex',
      file: '~/.codex/config.toml',
      code: `[mcp_servers.switchboard]
url = "${url}"
bearer_token_env_var = "SWITCHBOARD_KEY"`,
    },
    {
      name: 'mcp-remote',
      file: '',
      code: `{
  "mcpServers": {
    "switchboard": {
      "command": "npx",
      "args": ["mcp-remote", "${url}", "--header", "Authorization:\${AUTH_HEADER}"],
      "env": { "AUTH_HEADER": "Bearer <key>" }
    }
  }
}`,
    },
  ];
}
