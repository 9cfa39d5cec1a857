import { Page } from '../../components/page/layout.tsx';
import { ClientsCard } from './clientsCard.tsx';
import { mcpStrings } from './strings.ts';
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
