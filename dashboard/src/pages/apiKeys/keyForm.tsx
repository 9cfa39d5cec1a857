import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldError } from '../../api.ts';
import {
  type KeyLimits,
  LimitFields,
  limitNames,
  readLimits,
  typedLimits,
} from '../../components/apiKey/limitFields.tsx';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { LocalTimeField } from '../../components/text/localTime.tsx';
import { apiKeyStrings } from '../../strings/apiKeys.ts';
import { PermissionChoice } from './permissionChoice.tsx';

/** The editable settings of a key. */
export interface KeySettings extends KeyLimits {
  readonly name: string;
  readonly permissions: string[];
  readonly expiresAt: string | null;
}

interface KeyFormProps {
  readonly settings: KeySettings;
  readonly submit: string;
  readonly onSubmit: (settings: KeySettings) => Promise<unknown>;
  readonly onCancel: () => void;
}

/** The form of a new or an existing key. */
export function KeyForm({ settings, submit, onSubmit, onCancel }: KeyFormProps) {
  const [name, setName] = useState(settings.name);
  const [permissions, setPermissions] = useState(settings.permissions);
  const [expiry, setExpiry] = useState<string>(settings.expiresAt === null ? 'never' : 'at');
  const [expiresAt, setExpiresAt] = useState(settings.expiresAt ?? undefined);
  const [limits, setLimits] = useState(typedLimits(settings));
  const save = useMutation({
    mutationFn: () => onSubmit({ name, permissions, expiresAt: expiryTime(expiry, expiresAt), ...readLimits(limits) }),
  });
  const problem = (field: string) => fieldError(save.error, field);

  return (
    <Form
      submit={submit}
      error={save.error}
      fields={['name', 'permissions', 'expiresAt', ...limitNames]}
      busy={save.isPending}
      disabled={permissions.length === 0 || limits.sessionIds?.length === 0}
      onCancel={onCancel}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label={apiKeyStrings.name}
        hint={apiKeyStrings.nameHint}
        error={problem('name')}
        required
        autoFocus
        maxLength={100}
        autoComplete="off"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <PermissionChoice
        value={permissions}
        onChange={setPermissions}
        error={permissions.length === 0 ? apiKeyStrings.noPermissions : problem('permissions')}
      />
      <div className="grid items-start gap-4 wide:grid-cols-2">
        <SelectField
          label={apiKeyStrings.expiry}
          options={apiKeyStrings.expiries}
          value={expiry}
          error={expiry === 'at' ? undefined : problem('expiresAt')}
          onChange={({ currentTarget }) => setExpiry(currentTarget.value)}
        />
        {expiry === 'at' && (
          <LocalTimeField
            label={apiKeyStrings.expiresAt}
            required
            value={expiresAt}
            error={problem('expiresAt')}
            onChange={setExpiresAt}
          />
        )}
      </div>
      <LimitFields value={limits} onChange={setLimits} errorOf={problem} />
    </Form>
  );
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** @param expiry `never`, `at` for the entered time, or a number of days from now */
function expiryTime(expiry: string, entered: string | undefined): string | null {
  if (expiry === 'never') return null;
  if (expiry === 'at') return entered ?? null;
  return new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
}
