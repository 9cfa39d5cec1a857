import type { ConnectionRequest } from '@switchboard/sdk/api';
import { useId, useState } from 'react';
import { permissionTable } from '../../../../server/src/auth/permissions.ts';
import { fieldError } from '../../api.ts';
import {
  type KeyLimits,
  LimitFields,
  limitNames,
  noLimits,
  readLimits,
  typedLimits,
} from '../../components/apiKey/limitFields.tsx';
import { Button } from '../../components/button.tsx';
import { Disclosure } from '../../components/disclosure.tsx';
import { CheckField, FieldError } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { Card } from '../../components/page/layout.tsx';
import { permits } from '../../model/grants.ts';
import { connectStrings } from './strings.ts';

/** The permissions and limits that the person grants. */
interface Choice extends KeyLimits {
  readonly permissions: string[];
}

interface ConsentFormProps {
  readonly request: ConnectionRequest;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onApprove: (choice: Choice) => void;
  readonly onDeny: () => void;
}

/** The answer to an app: permissions and limits. Starts with those of its present connection. */
export function ConsentForm({ request, busy, error, onApprove, onDeny }: ConsentFormProps) {
  const { permissions: wanted, morePermissions, connection } = request;
  const present = connection?.permissions ?? ['*'];
  const added = connection === null ? [] : morePermissions.filter((one) => present.includes(one));
  const [permissions, setPermissions] = useState(() => [...wanted.filter((one) => permits(present, one)), ...added]);
  const [limits, setLimits] = useState(() => typedLimits(connection ?? noLimits));
  const isIncomplete = permissions.length === 0 || limits.sessionIds?.length === 0;
  const readsStrangers = permissions.includes('messages:read') && permissions.includes('messages:send');

  return (
    <Form
      error={error}
      fields={['permissions', ...limitNames]}
      onSubmit={() => onApprove({ permissions, ...readLimits(limits) })}
    >
      <Card title={connectStrings.permissions} hint={connectStrings.permissionsHint}>
        <Permissions
          label={connectStrings.permissions}
          offered={wanted}
          value={permissions}
          onChange={setPermissions}
          error={permissions.length === 0 ? connectStrings.noPermissions : fieldError(error, 'permissions')}
        />
      </Card>
      {morePermissions.length > 0 && (
        <Card flush>
          <Disclosure summary={connectStrings.more} isOpen={added.length > 0}>
            <Permissions
              label={connectStrings.more}
              offered={morePermissions}
              value={permissions}
              onChange={setPermissions}
            />
          </Disclosure>
        </Card>
      )}
      <Card title={connectStrings.limits}>
        <div className="grid gap-4">
          <LimitFields value={limits} onChange={setLimits} errorOf={(field) => fieldError(error, field)} />
          {readsStrangers && <Notice tone="info">{connectStrings.strangers}</Notice>}
        </div>
      </Card>
      <div className="flex flex-wrap justify-end gap-2.5">
        <Button disabled={busy} onClick={onDeny}>
          {connectStrings.deny}
        </Button>
        <Button type="submit" look="primary" busy={busy} disabled={isIncomplete}>
          {connectStrings.connect}
        </Button>
      </div>
    </Form>
  );
}

interface PermissionsProps {
  readonly label: string;
  readonly offered: readonly string[];
  readonly value: readonly string[];
  readonly onChange: (permissions: string[]) => void;
  readonly error?: string | undefined;
}

/** Some of the permissions, in words. */
function Permissions({ label, offered, value, onChange, error }: PermissionsProps) {
  const id = useId();
  return (
    <fieldset
      aria-label={label}
      aria-describedby={error === undefined ? undefined : id}
      className="grid gap-x-6 gap-y-3 wide:grid-cols-2"
    >
      {offered.map((permission) => (
        <CheckField
          key={permission}
          label={explanationOf(permission)}
          hint={permission}
          checked={value.includes(permission)}
          onChange={({ currentTarget }) =>
            onChange([...value.filter((one) => one !== permission), ...(currentTarget.checked ? [permission] : [])])
          }
        />
      ))}
      {error !== undefined && <FieldError id={id}>{error}</FieldError>}
    </fieldset>
  );
}

function explanationOf(permission: string): string {
  const [resource = '', action = ''] = permission.split(':');
  const table: Readonly<Record<string, Readonly<Record<string, string>>>> = permissionTable;
  return table[resource]?.[action] ?? permission;
}
