import { CodeSnippet } from '../../components/codeSnippet.tsx';
import { CopyButton } from '../../components/copyButton.tsx';
import { Card } from '../../components/layout.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { TabSet } from '../../components/tabSet.tsx';
import { mcpWords } from '../../strings/mcp.ts';
import { clientsFor } from './clients.ts';
import { MCP_PATH } from './mcp.ts';

/** The configuration of each client for this server. */
export function ClientsCard() {
  const address = location.origin + MCP_PATH;
  return (
    <Card
      title={mcpWords.connect}
      hint={mcpWords.connectHint}
      actions={
        <LinkButton to="/keys" size="small">
          {mcpWords.makeKey}
        </LinkButton>
      }
    >
      <div className="grid grid-cols-1 gap-4">
        <div className="flex flex-wrap items-center gap-x-3 text-sm">
          <span className="text-ink-faint">{mcpWords.address}</span>
          <code className="wrap-anywhere">{address}</code>
          <CopyButton text={address} />
        </div>
        <TabSet
          label={mcpWords.clients}
          tabs={clientsFor(location.origin).map(({ name, file, code }) => ({
            name,
            content: (
              <>
                <p className="mb-2 text-sm text-ink-soft">{file === '' ? mcpWords.bridge : mcpWords.file(file)}</p>
                <CodeSnippet label={mcpWords.configuration(name)} code={code} />
              </>
            ),
          }))}
        />
        <p className="text-sm text-ink-faint">{mcpWords.keyHint}</p>
      </div>
    </Card>
  );
}
