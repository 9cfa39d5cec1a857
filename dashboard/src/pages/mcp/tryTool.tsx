import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { useState } from 'react';
import { errorText } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog/confirmDialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { CodeSnippet } from '../../components/schema/codeSnippet.tsx';
import { JsonInspector } from '../../components/schema/jsonInspector.tsx';
import { SchemaFields } from '../../components/schema/schemaFields.tsx';
import { type FieldTexts, type FormField, fieldsOf, isInvalid, valuesOf } from '../../components/schema/schemaForm.ts';
import { callTool, type Tool, type ToolResult } from './mcp.ts';
import { mcpStrings } from './strings.ts';

/** A form that calls a tool and shows the result that an agent would get. */
export function TryTool({ tool }: { readonly tool: Tool }) {
  const fields = fieldsOf(tool.inputSchema).toSorted(requiredFirst);
  const [texts, setTexts] = useState<FieldTexts>({});
  const [isConfirming, setConfirming] = useState(false);
  const queries = useQueryClient();
  const call = useMutation({
    mutationFn: async () => {
      const input = valuesOf(fields, texts);
      const startedAt = performance.now();
      const result = await callTool(tool.name, input);
      return { input, result, failure: failureOf(result), ms: Math.round(performance.now() - startedAt) };
    },
    // Other pages may show what the tool has changed.
    onSuccess: () => tool.annotations.readOnlyHint || queries.invalidateQueries(),
  });
  const errors = call.data?.failure?.errors;

  return (
    <div className="grid grid-cols-1 gap-5">
      <form
        aria-label={mcpStrings.input}
        className="grid grid-cols-1 gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (tool.annotations.destructiveHint) setConfirming(true);
          else call.mutate();
        }}
      >
        {fields.length === 0 ? (
          <p className="text-sm text-ink-faint">{mcpStrings.noInput}</p>
        ) : (
          <div className="grid grid-cols-1 items-start gap-4 wide:grid-cols-2">
            <SchemaFields
              fields={fields}
              labelOf={({ name }) => name}
              texts={texts}
              onChange={setTexts}
              errorOf={(name) => errors?.find(({ field }) => field === name || field.startsWith(`${name}.`))?.message}
            />
          </div>
        )}
        <div className="flex flex-wrap items-center gap-3">
          <Button
            type="submit"
            look="primary"
            busy={call.isPending}
            disabled={fields.some((field) => isInvalid(field, texts[field.name]))}
            icon={<Play className="size-4" />}
          >
            {mcpStrings.call}
          </Button>
          <span className="text-sm text-ink-faint">{mcpStrings.callHint}</span>
        </div>
      </form>
      <div aria-live="polite" className="grid grid-cols-1 gap-4 empty:hidden">
        {call.error !== null && <Notice tone="bad">{errorText(call.error)}</Notice>}
        {call.data !== undefined && <CallResult name={tool.name} {...call.data} />}
      </div>
      <ConfirmDialog
        title={mcpStrings.callTitle(tool.name)}
        confirm={mcpStrings.call}
        open={isConfirming}
        onOpenChange={setConfirming}
        // The page shows why the call failed.
        onConfirm={() => call.mutateAsync().catch(() => {})}
      >
        {mcpStrings.confirmHint}
      </ConfirmDialog>
    </div>
  );
}

interface CallResultProps {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: ToolResult;
  readonly failure: Failed | undefined;
  readonly ms: number;
}

function CallResult({ name, input, result, failure, ms }: CallResultProps) {
  return (
    <>
      {failure === undefined ? (
        <Notice tone="good">{mcpStrings.worked(ms)}</Notice>
      ) : (
        <Notice tone="bad">{[failure.detail, failure.hint].filter(Boolean).join('. ')}</Notice>
      )}
      <h3 className="text-sm font-medium">{mcpStrings.request}</h3>
      <CodeSnippet label={mcpStrings.request} code={JSON.stringify({ name, arguments: input }, null, 2)} />
      <h3 className="text-sm font-medium">{mcpStrings.result}</h3>
      <Pictures result={result} />
      <JsonInspector label={mcpStrings.result} value={result.structuredContent ?? failure} />
    </>
  );
}

const requiredFirst = (one: FormField, other: FormField) => Number(other.isRequired) - Number(one.isRequired);

interface Failed {
  readonly detail: string;
  readonly hint?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

/** Parses the error of a tool, in the format of the server. */
function failureOf({ isError, content }: ToolResult): Failed | undefined {
  if (isError !== true) return undefined;
  const text = content.find((part) => part.type === 'text')?.text ?? '';
  try {
    return (JSON.parse(text) as { error: Failed }).error;
  } catch {
    // Errors of the MCP library are plain text.
    return { detail: text };
  }
}

function Pictures({ result }: { readonly result: ToolResult }) {
  return result.content
    .filter((part) => part.type === 'image')
    .map(({ data, mimeType }) => (
      <img
        key={data}
        alt={mcpStrings.picture}
        src={`data:${mimeType};base64,${data}`}
        className="max-h-72 max-w-full justify-self-start rounded-lg bg-white p-2"
      />
    ));
}
