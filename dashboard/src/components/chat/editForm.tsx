import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api.ts';
import { messageStrings } from '../../strings/chats.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { TextArea } from '../form/field.tsx';
import { Form } from '../form/form.tsx';

/** Edits a text, such as that of a message. */
export function EditForm({
  label = messageStrings.write,
  text,
  onCancel,
  onSave,
}: {
  readonly label?: string;
  readonly text: string;
  readonly onCancel: () => void;
  readonly onSave: (text: string) => Promise<unknown>;
}) {
  const [changed, setChanged] = useState(text);
  const save = useMutation({ mutationFn: () => onSave(changed) });
  return (
    <Form
      submit={sharedStrings.save}
      busy={save.isPending}
      disabled={changed.trim() === ''}
      onCancel={onCancel}
      onSubmit={() => save.mutate()}
    >
      <TextArea
        label={label}
        required
        autoFocus
        error={save.error === null ? undefined : errorText(save.error)}
        value={changed}
        onChange={(event) => setChanged(event.currentTarget.value)}
      />
    </Form>
  );
}
