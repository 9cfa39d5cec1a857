import type { Session } from '@switchboard/sdk/api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Actions } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Card } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { SchemaField } from '../../components/schemaField.tsx';
import { type FormField, fieldsOf, isInvalid, textsOf, valuesOf } from '../../components/schemaForm.ts';
import { Loaded } from '../../components/states.tsx';
import { useToast } from '../../components/toast.tsx';
import { sessionWords } from '../../strings/sessions.ts';
import { words } from '../../strings/shared.ts';
import { useConnectors } from './connectors.ts';

/** What the session is called, and the options of its network. */
export function SettingsCard({ session }: { readonly session: Session }) {
  const connectors = useConnectors();
  return (
    <Card title={sessionWords.settings} hint={sessionWords.optionsHint}>
      <Loaded query={connectors}>
        {(networks) => (
          <SettingsForm session={session} schema={networks.find(({ name }) => name === session.connector)?.options} />
        )}
      </Loaded>
    </Card>
  );
}

interface SettingsFormProps {
  readonly session: Session;
  /** None when the server no longer has the network. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

function SettingsForm({ session, schema }: SettingsFormProps) {
  const fields = useMemo<readonly FormField[]>(() => (schema === undefined ? [] : fieldsOf(schema)), [schema]);
  const [name, setName] = useState(session.name ?? '');
  const [texts, setTexts] = useState(() => textsOf(fields, session.options));
  const queries = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: () =>
      api.sessions.update({
        sessionId: session.sessionId,
        name: name.trim() === '' ? null : name.trim(),
        ...(fields.length > 0 && { options: valuesOf(fields, texts) }),
      }),
    onSuccess: () => {
      toast(words.saved);
      return queries.invalidateQueries({ queryKey: ['sessions'] });
    },
  });

  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {save.error !== null && <Notice tone="bad">{errorText(save.error)}</Notice>}
      <TextField
        label={sessionWords.name}
        hint={sessionWords.nameHint}
        error={fieldError(save.error, 'name')}
        isOptional
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {fields.map((field) => (
        <SchemaField
          key={field.name}
          field={field}
          label={field.title}
          value={texts[field.name] ?? ''}
          onChange={(text) => setTexts({ ...texts, [field.name]: text })}
          error={fieldError(save.error, `options.${field.name}`)}
          isKept={field.isSecret}
        />
      ))}
      <Actions>
        <Button
          type="submit"
          look="primary"
          busy={save.isPending}
          disabled={fields.some((field) => isInvalid(field, texts[field.name]))}
        >
          {words.save}
        </Button>
      </Actions>
    </form>
  );
}
