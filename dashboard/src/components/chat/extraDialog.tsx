import { useMutation } from '@tanstack/react-query';
import { messageStrings } from '../../strings/chats.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { CheckField, TextArea, TextField } from '../form/field.tsx';
import { Form } from '../form/form.tsx';

/** Content that is entered in a form of its own. */
export type Extra =
  | { readonly type: 'poll'; readonly question: string; readonly options: string[]; readonly maxSelections: number }
  | { readonly type: 'location'; readonly latitude: number; readonly longitude: number; readonly name?: string }
  | { readonly type: 'contact'; readonly name: string; readonly phoneNumbers: string[] };

export const extraTypes = ['poll', 'location', 'contact'] as const satisfies readonly Extra['type'][];

interface ExtraFormProps {
  /** If it rejects, the form stays. */
  readonly onSend: (extra: Extra) => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks for a poll, a location or a contact, and sends it. */
export function ExtraDialog({ type, ...rest }: ExtraFormProps & { readonly type: Extra['type'] | undefined }) {
  return (
    <Dialog
      title={type === undefined ? '' : messageStrings.sendExtra[type]}
      open={type !== undefined}
      onOpenChange={rest.onClose}
    >
      {type !== undefined && <ExtraForm type={type} {...rest} />}
    </Dialog>
  );
}

function ExtraForm({ type, onSend, onClose }: ExtraFormProps & { readonly type: Extra['type'] }) {
  const send = useMutation({ mutationFn: (form: FormData) => onSend(extraOf(type, form)), onSuccess: onClose });
  return (
    <Form
      submit={messageStrings.send}
      error={send.error}
      busy={send.isPending}
      onCancel={onClose}
      onSubmit={(form) => send.mutate(new FormData(form))}
    >
      {type === 'poll' && (
        <>
          <TextField label={messageStrings.question} name="question" required autoFocus />
          <TextArea label={messageStrings.options} hint={messageStrings.optionsHint} name="options" required />
          <CheckField label={messageStrings.severalOptions} name="several" />
        </>
      )}
      {type === 'location' && (
        <>
          <TextField label={messageStrings.placeName} name="name" isOptional autoFocus />
          <div className="grid grid-cols-2 gap-4">
            <Degrees label={messageStrings.latitude} name="latitude" most={90} />
            <Degrees label={messageStrings.longitude} name="longitude" most={180} />
          </div>
        </>
      )}
      {type === 'contact' && (
        <>
          <TextField label={messageStrings.contactName} name="name" required autoFocus />
          <TextField label={messageStrings.contactNumber} name="number" type="tel" required />
        </>
      )}
    </Form>
  );
}

function Degrees({ label, name, most }: { readonly label: string; readonly name: string; readonly most: number }) {
  return <TextField label={label} name={name} type="number" step="any" min={-most} max={most} required />;
}

function extraOf(type: Extra['type'], form: FormData): Extra {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  switch (type) {
    case 'poll': {
      const options = text('options')
        .split('\n')
        .map((option) => option.trim())
        .filter((option) => option !== '');
      return { type, question: text('question'), options, maxSelections: form.has('several') ? options.length : 1 };
    }
    case 'location': {
      const name = text('name');
      const [latitude, longitude] = [Number(text('latitude')), Number(text('longitude'))];
      return { type, latitude, longitude, ...(name !== '' && { name }) };
    }
    case 'contact':
      return { type, name: text('name'), phoneNumbers: [text('number')] };
  }
}
