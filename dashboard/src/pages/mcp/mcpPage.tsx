import { Page } from '../../components/layout.tsx';
import { mcpStrings } from '../../strings/mcp.ts';
import { ClientsCard } from './clientsCard.tsx';
import { ToolsCard } from './toolsCard.tsx';

/** The MCP server: its clients and its tools. */
export function McpPage() {
  return (
    <Page title={mcpStrings.title} lead={mcpStrings.lead}>
      <ClientsCard />
      <ToolsCard />
    </Page>
  );
}
