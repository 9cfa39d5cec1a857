import type { Session } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, fieldError } from '../../api.ts';
import { TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Card } from '../../components/page/layout.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { SchemaFields } from '../../components/schema/schemaFields.tsx';
import { type FormField, fieldsOf, isInvalid, textsOf, valuesOf } from '../../components/schema/schemaForm.ts';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { sessionStrings } from '../../strings/sessions.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { useConnectors } from './connectors.ts';

/** The name of the session and the options of its network. */
export function SettingsCard({ session }: { readonly session: Session }) {
  const connectors = useConnectors();
  return (
    <Card title={sessionStrings.settings} hint={sessionStrings.optionsHint}>
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
  /** Undefined if the server no longer has the network. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

function SettingsForm({ session, schema }: SettingsFormProps) {
  const fields = useMemo<readonly FormField[]>(() => (schema === undefined ? [] : fieldsOf(schema)), [schema]);
  const [name, setName] = useState(session.name ?? '');
  const [texts, setTexts] = useState(() => textsOf(fields, session.options));
  const refresh = useRefresh();
  const toast = useToast();
  const save = useMutation({
    mutationFn: () =>
      api.sessions.update({
        sessionId: session.sessionId,
        name: name.trim() === '' ? null : name.trim(),
        ...(fields.length > 0 && { options: valuesOf(fields, texts) }),
      }),
    onSuccess: () => {
      toast(sharedStrings.saved);
      return refresh('sessions');
    },
  });

  return (
    <Form
      submit={sharedStrings.save}
      error={save.error}
      fields={['name', ...fields.map((field) => `options.${field.name}`)]}
      busy={save.isPending}
      disabled={fields.some((field) => isInvalid(field, texts[field.name]))}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label={sessionStrings.name}
        hint={sessionStrings.nameHint}
        error={fieldError(save.error, 'name')}
        isOptional
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <SchemaFields
        fields={fields}
        texts={texts}
        onChange={setTexts}
        errorOf={(field) => fieldError(save.error, `options.${field}`)}
        keepsSecrets
      />
    </Form>
  );
}
