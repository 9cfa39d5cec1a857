import type { Connector } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { api, errorText, fieldError } from '../../api.ts';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { SchemaFields } from '../../components/schema/schemaFields.tsx';
import { type FieldTexts, fieldsOf, isInvalid, valuesOf } from '../../components/schema/schemaForm.ts';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { sessionStrings } from '../../strings/sessions.ts';
import { networkName, useConnectors } from './connectors.ts';

/** Creates a session on any network of the server, connects it, and opens it. */
export function CreateSession({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const connectors = useConnectors();
  return (
    <Dialog title={sessionStrings.createTitle} open={open} onOpenChange={onClose}>
      <Loaded query={connectors}>{(networks) => <CreateForm networks={networks} onClose={onClose} />}</Loaded>
    </Dialog>
  );
}

function CreateForm({ networks, onClose }: { readonly networks: readonly Connector[]; readonly onClose: () => void }) {
  const [connector, setConnector] = useState(networks[0]?.name ?? '');
  const [name, setName] = useState('');
  const [phoneNumber, setPhoneNumber] = useState('');
  const [texts, setTexts] = useState<FieldTexts>({});
  const schema = networks.find((network) => network.name === connector)?.options;
  const fields = useMemo(() => (schema === undefined ? [] : fieldsOf(schema)), [schema]);
  const navigate = useNavigate();
  const refresh = useRefresh();
  const toast = useToast();

  const create = useMutation({
    mutationFn: () =>
      api.sessions.create({
        connector,
        options: valuesOf(fields, texts),
        ...(name.trim() !== '' && { name: name.trim() }),
        ...(phoneNumber.trim() !== '' && { phoneNumber }),
      }),
    onSuccess: async ({ sessionId }) => {
      toast(sessionStrings.created);
      // The session exists even if it cannot connect; its page shows the reason.
      await api.sessions.connect({ sessionId }).catch((error: unknown) => toast(errorText(error), 'bad'));
      void refresh('sessions');
      onClose();
      void navigate({ to: '/sessions/$sessionId', params: { sessionId } });
    },
  });
  const problem = (field: string) => fieldError(create.error, field);

  return (
    <Form
      submit={sessionStrings.createAndConnect}
      error={create.error}
      fields={['connector', 'name', 'phoneNumber', ...fields.map((field) => `options.${field.name}`)]}
      busy={create.isPending}
      disabled={fields.some((field) => isInvalid(field, texts[field.name]))}
      onCancel={onClose}
      onSubmit={() => create.mutate()}
    >
      <SelectField
        label={sessionStrings.network}
        hint={sessionStrings.networkHints[connector]}
        error={problem('connector')}
        autoFocus
        options={networks.map((network) => [network.name, networkName(network.name)])}
        value={connector}
        onChange={(event) => {
          setConnector(event.currentTarget.value);
          setTexts({});
          create.reset();
        }}
      />
      <TextField
        label={sessionStrings.name}
        hint={sessionStrings.nameHint}
        error={problem('name')}
        isOptional
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextField
        label={sessionStrings.phoneNumber}
        hint={sessionStrings.phoneNumberHint}
        error={problem('phoneNumber')}
        isOptional
        type="tel"
        value={phoneNumber}
        onChange={(event) => setPhoneNumber(event.currentTarget.value)}
      />
      {/* Keyed, so that a field does not keep what was typed for another network. */}
      <SchemaFields
        key={connector}
        fields={fields}
        texts={texts}
        onChange={setTexts}
        errorOf={(field) => problem(`options.${field}`)}
      />
    </Form>
  );
}
