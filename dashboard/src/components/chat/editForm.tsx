import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api.ts';
import { messageWords } from '../../strings/chats.ts';
import { words } from '../../strings/shared.ts';
import { Button } from '../button.tsx';
import { Actions } from '../dialog.tsx';
import { TextArea } from '../field.tsx';

/** A new text for something, such as a message. */
export function EditForm({
  label = messageWords.write,
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
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <TextArea
        label={label}
        required
        autoFocus
        error={save.error === null ? undefined : errorText(save.error)}
        value={changed}
        onChange={(event) => setChanged(event.currentTarget.value)}
      />
      <Actions>
        <Button onClick={onCancel}>{words.cancel}</Button>
        <Button type="submit" look="primary" busy={save.isPending} disabled={changed.trim() === ''}>
          {words.save}
        </Button>
      </Actions>
    </form>
  );
}
