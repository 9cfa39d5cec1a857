import { Play, Square } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog/confirmDialog.tsx';
import { CheckField, Field, TextArea, TextField } from '../../components/form/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { SchemaFields } from '../../components/schema/schemaFields.tsx';
import type { Operation } from '../../openapi.ts';
import { AnswerView } from './answerView.tsx';
import { useCredential } from './credential.ts';
import { referenceStrings } from './strings.ts';
import {
  type Answer,
  bodyKind,
  buildRequest,
  type Draft,
  isOtherPath,
  isParameterInvalid,
  parameterFields,
  sendRequest,
} from './tryRequest.ts';

interface Sending {
  readonly isRunning: boolean;
  readonly answer?: Answer | undefined;
  readonly failure?: string | undefined;
}

/** A form that sends a real request to this server and shows the response. */
export function TryOperation({ operation }: { readonly operation: Operation }) {
  const credential = useCredential();
  const [draft, setDraft] = useState<Draft>(() => ({ texts: {}, body: exampleBody(operation), file: undefined }));
  const [isConfirming, setConfirming] = useState(false);
  const { sending, send, stop } = useSending();
  const fields = parameterFields(operation);
  const isPublic = operation.security?.length === 0;
  const key = isPublic ? '' : credential.value.trim();
  const isKeyInvalid = !/^[\x21-\x7e]*$/.test(key);
  const isInvalidDraft =
    isKeyInvalid ||
    isBodyInvalid(operation, draft) ||
    fields.some((field) => isParameterInvalid(operation, field, draft.texts[field.name]));

  const start = () => send(buildRequest(operation, draft, key));
  return (
    <div className="grid grid-cols-1 gap-5">
      <form
        aria-label={referenceStrings.request}
        className="grid grid-cols-1 gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (operation['x-effect'] === 'destructive' || operation.method === 'DELETE') setConfirming(true);
          else void start();
        }}
      >
        {!isPublic && <CredentialFields error={isKeyInvalid ? referenceStrings.keyInvalid : undefined} />}
        {fields.length > 0 && (
          <div className="grid grid-cols-1 items-start gap-4 wide:grid-cols-2">
            <SchemaFields
              fields={fields}
              labelOf={({ name }) => name}
              texts={draft.texts}
              onChange={(texts) => setDraft({ ...draft, texts })}
              errorOf={(name) =>
                isOtherPath(operation, name, draft.texts[name]) ? referenceStrings.pathInvalid : undefined
              }
            />
          </div>
        )}
        <BodyField operation={operation} draft={draft} onChange={setDraft} />
        <Actions isRunning={sending.isRunning} isDisabled={isInvalidDraft} onStop={stop} />
      </form>
      <div aria-live="polite" className="grid grid-cols-1 gap-4 empty:hidden">
        {sending.failure !== undefined && <Notice tone="bad">{sending.failure}</Notice>}
        {sending.answer !== undefined && <AnswerView answer={sending.answer} />}
      </div>
      <ConfirmDialog
        title={referenceStrings.confirmTitle(operation.summary)}
        confirm={referenceStrings.send}
        open={isConfirming}
        onOpenChange={setConfirming}
        onConfirm={async () => void start()}
      >
        {referenceStrings.confirmHint(`${operation.method} ${operation.path}`)}
      </ConfirmDialog>
    </div>
  );
}

interface BodyFieldProps {
  readonly operation: Operation;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

/** The field for a JSON body or a file; nothing if the operation takes no body. */
function BodyField({ operation, draft, onChange }: BodyFieldProps) {
  switch (bodyKind(operation)) {
    case 'none':
      return null;
    case 'json':
      return (
        <TextArea
          label={referenceStrings.jsonBody}
          value={draft.body}
          rows={Math.min(16, draft.body.split('\n').length + 1)}
          spellCheck={false}
          className="font-mono text-sm"
          error={isBodyInvalid(operation, draft) ? referenceStrings.bodyInvalid : undefined}
          onChange={({ currentTarget }) => onChange({ ...draft, body: currentTarget.value })}
        />
      );
    case 'file':
      return (
        <Field label={referenceStrings.file}>
          {(wiring) => (
            <input
              {...wiring}
              type="file"
              required
              className="text-sm"
              onChange={({ currentTarget }) => onChange({ ...draft, file: currentTarget.files?.[0] })}
            />
          )}
        </Field>
      );
  }
}

interface ActionsProps {
  readonly isRunning: boolean;
  readonly isDisabled: boolean;
  readonly onStop: () => void;
}

/** The buttons that send the request and stop it. */
function Actions({ isRunning, isDisabled, onStop }: ActionsProps) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button type="submit" look="primary" busy={isRunning} disabled={isDisabled} icon={<Play className="size-4" />}>
        {referenceStrings.send}
      </Button>
      {isRunning && (
        <Button onClick={onStop} icon={<Square className="size-4" />}>
          {referenceStrings.stop}
        </Button>
      )}
      <span className="text-sm text-ink-faint">{referenceStrings.sendHint(location.origin)}</span>
    </div>
  );
}

function CredentialFields({ error }: { readonly error: string | undefined }) {
  const { value, change, isKept, keep } = useCredential();
  return (
    <div className="grid grid-cols-1 gap-2">
      <TextField
        type="password"
        label={referenceStrings.key}
        hint={referenceStrings.keyHint}
        error={error}
        value={value}
        maxLength={8192}
        // Keeps password managers from filling in the login.
        autoComplete="new-password"
        spellCheck={false}
        className="font-mono text-sm"
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
      <CheckField
        label={referenceStrings.keepKey}
        checked={isKept}
        onChange={({ currentTarget }) => keep(currentTarget.checked)}
      />
    </div>
  );
}

/** Sends one request at a time. Leaving the page ends it. */
function useSending() {
  const [sending, setSending] = useState<Sending>({ isRunning: false });
  const current = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => current.current?.abort(), []);

  async function send(request: Request) {
    current.current?.abort();
    const own = new AbortController();
    current.current = own;
    let answer: Answer | undefined;
    const show = (next: Sending) => own === current.current && setSending(next);
    show({ isRunning: true });
    try {
      answer = await sendRequest(request, own.signal, (partial) => {
        answer = partial;
        show({ isRunning: true, answer });
      });
      show({ isRunning: false, answer });
    } catch {
      // Stopped by the reader, or the connection broke. The part that has arrived stays.
      const failure = own.signal.aborted ? undefined : referenceStrings.noAnswer;
      show({ isRunning: false, answer, failure });
    }
  }

  return { sending, send, stop: () => current.current?.abort() };
}

function exampleBody({ requestBody }: Operation): string {
  return JSON.stringify(requestBody?.content['application/json']?.example ?? {}, null, 2);
}

const isBodyInvalid = (operation: Operation, { body }: Draft) => bodyKind(operation) === 'json' && !isJson(body);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
