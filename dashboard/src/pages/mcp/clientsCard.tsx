import { CopyButton } from '../../components/copyButton.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Card } from '../../components/page/layout.tsx';
import { TabSet } from '../../components/page/tabSet.tsx';
import { CodeSnippet } from '../../components/schema/codeSnippet.tsx';
import { clientsFor } from './clients.ts';
import { MCP_PATH } from './mcp.ts';
import { mcpStrings } from './strings.ts';

/** The configuration of each client for this server. */
export function ClientsCard() {
  const address = location.origin + MCP_PATH;
  return (
    <Card
      title={mcpStrings.connect}
      hint={mcpStrings.connectHint}
      actions={
        <LinkButton to="/keys" size="small">
          {mcpStrings.makeKey}
        </LinkButton>
      }
    >
      <div className="grid grid-cols-1 gap-4">
        <div className="flex flex-wrap items-center gap-x-3 text-sm">
          <span className="text-ink-faint">{mcpStrings.address}</span>
          <code className="wrap-anywhere">{address}</code>
          <CopyButton text={address} />
        </div>
        <TabSet
          label={mcpStrings.clients}
          tabs={clientsFor(location.origin).map(({ name, file, code }) => ({
            name,
            content: (
              <>
                <p className="mb-2 text-sm text-ink-soft">{file === '' ? mcpStrings.bridge : mcpStrings.file(file)}</p>
                <CodeSnippet label={mcpStrings.configuration(name)} code={code} />
              </>
            ),
          }))}
        />
        <p className="text-sm text-ink-faint">{mcpStrings.keyHint}</p>
      </div>
    </Card>
  );
}
