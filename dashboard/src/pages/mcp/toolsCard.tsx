import type { ApiKey } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Disclosure } from '../../components/disclosure.tsx';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { Tag } from '../../components/lamp.tsx';
import { Card } from '../../components/page/layout.tsx';
import { Empty, Loaded } from '../../components/page/states.tsx';
import { permits } from '../../model/grants.ts';
import { type Reference, referenceQuery } from '../../openapi.ts';
import { type Tool, toolsQuery } from './mcp.ts';
import { mcpStrings } from './strings.ts';
import { TryTool } from './tryTool.tsx';

/** The tools, or those of one key, each with a form to try it. */
export function ToolsCard() {
  const [keyId, setKeyId] = useState('');
  const [search, setSearch] = useState('');
  const tools = useQuery(toolsQuery);
  const reference = useQuery(referenceQuery);
  const keys = useQuery({ queryKey: ['api_keys', 'all'], queryFn: allKeys });
  const apiKey = keys.data?.find((one) => one.keyId === keyId);

  return (
    <Card flush title={mcpStrings.tools} hint={mcpStrings.toolsHint}>
      <div className="grid gap-4 px-5 pb-5 wide:grid-cols-2">
        <SelectField
          label={mcpStrings.shownFor}
          options={[['', mcpStrings.login], ...(keys.data ?? []).map(({ keyId: id, name }) => [id, name] as const)]}
          value={keyId}
          onChange={({ currentTarget }) => setKeyId(currentTarget.value)}
        />
        <TextField
          type="search"
          label={mcpStrings.search}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      </div>
      <Loaded query={tools}>
        {(all) => (
          <Loaded query={reference}>
            {(known) => <ToolList all={all} shown={filterTools(all, known, apiKey, search)} />}
          </Loaded>
        )}
      </Loaded>
    </Card>
  );
}

function ToolList({ all, shown }: { readonly all: readonly Tool[]; readonly shown: readonly Tool[] }) {
  return (
    <>
      <p role="status" className="border-t border-line px-5 py-2 text-xs text-ink-faint">
        {mcpStrings.toolCount(shown.length, all.length)}
      </p>
      {shown.length === 0 && <Empty title={mcpStrings.noTools}>{mcpStrings.noToolsHint}</Empty>}
      <ul aria-label={mcpStrings.tools}>
        {shown.map((tool) => (
          <li key={tool.name} className="border-t border-line">
            <Disclosure
              summary={
                <span className="ml-1 inline-flex max-w-[calc(100%-1.5rem)] flex-wrap items-center gap-x-3 gap-y-1 align-middle">
                  <code className="font-medium wrap-anywhere">{tool.name}</code>
                  <span className="text-sm text-ink-soft">{tool.title}</span>
                  <Tag>{mcpStrings.effects[effectOf(tool)]}</Tag>
                </span>
              }
            >
              <div className="grid grid-cols-1 gap-5">
                <p className="max-w-prose text-sm text-ink-soft">{tool.description}</p>
                <TryTool tool={tool} />
              </div>
            </Disclosure>
          </li>
        ))}
      </ul>
    </>
  );
}

function effectOf({ annotations: { readOnlyHint, destructiveHint } }: Tool): keyof typeof mcpStrings.effects {
  return destructiveHint ? 'destructive' : readOnlyHint ? 'read' : 'write';
}

/** Filters tools by key and by text. A tool needs the permission of the operation with the same name. */
function filterTools(
  tools: readonly Tool[],
  { operations }: Reference,
  apiKey: ApiKey | undefined,
  search: string,
): readonly Tool[] {
  const needs = new Map(operations.map((one) => [one.operationId.replaceAll('.', '_'), one.permissions]));
  const wanted = search.trim().toLowerCase();
  return tools.filter(({ name, title }) => {
    const needed = needs.get(name) ?? [];
    const isPermitted =
      apiKey === undefined || needed.length === 0 || needed.some((one) => permits(apiKey.permissions, one));
    return isPermitted && `${name} ${title}`.toLowerCase().includes(wanted);
  });
}

async function allKeys(): Promise<readonly ApiKey[]> {
  const keys: ApiKey[] = [];
  for await (const key of api.apiKeys.list.all({ limit: 200 })) keys.push(key);
  return keys;
}
