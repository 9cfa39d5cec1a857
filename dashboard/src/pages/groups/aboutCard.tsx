import type { Group } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { api, errorText, fieldError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { MediaPicture } from '../../components/chat/mediaView.tsx';
import { useEdits } from '../../components/form/edits.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../components/form/field.tsx';
import { FilePicker } from '../../components/form/filePicker.tsx';
import { Form } from '../../components/form/form.tsx';
import { isCancelled, UploadProgress, uploadStatus, useUpload } from '../../components/form/upload.tsx';
import { Card } from '../../components/page/layout.tsx';
import { duration } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { displayName } from '../../model/displayName.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { groupStrings } from './strings.ts';

interface AboutProps {
  readonly group: Group;
  readonly canChange: boolean;
  readonly isAdmin: boolean;
}

const settingNames = ['announce', 'locked', 'joinApproval'] as const;

/** The profile of a group and its settings. */
export function AboutCard({ group, canChange, isAdmin }: AboutProps) {
  const { groupId } = group;
  // Members are notified of every change, so only differences are sent.
  const { values, edit, changed, saved } = useEdits({
    subject: group.subject,
    description: group.description ?? '',
    ...group.settings,
  });
  const { memberAdd, disappearingSeconds } = values;
  const refresh = useRefresh();
  const toast = useToast();
  const save = useMutation({
    mutationFn: ({ subject, description, ...settings }: typeof changed) =>
      api.groups.update({
        groupId,
        ...(subject !== undefined && { subject }),
        ...(description !== undefined && { description: description || null }),
        ...(isAdmin && { settings }),
      }),
    onSuccess: async (_, sent) => {
      toast(sharedStrings.saved);
      await refresh('groups');
      saved(sent);
    },
  });

  return (
    <Card title={groupStrings.about}>
      <div className="grid gap-5">
        <Picture group={group} canChange={canChange} />
        <Form
          submit={canChange && sharedStrings.save}
          error={save.error}
          fields={['subject', 'description']}
          busy={save.isPending}
          onSubmit={() => save.mutate(changed)}
        >
          <TextField
            label={groupStrings.subject}
            error={fieldError(save.error, 'subject')}
            required
            maxLength={100}
            disabled={!canChange}
            value={values.subject}
            onChange={(event) => edit({ subject: event.currentTarget.value })}
          />
          <TextArea
            label={groupStrings.description}
            error={fieldError(save.error, 'description')}
            isOptional
            rows={3}
            disabled={!canChange}
            value={values.description}
            onChange={(event) => edit({ description: event.currentTarget.value })}
          />
          <fieldset disabled={!isAdmin} className="grid gap-2">
            <legend className="mb-2 text-sm font-medium">{groupStrings.settings}</legend>
            {settingNames.map((name) => (
              <CheckField
                key={name}
                label={groupStrings[name]}
                checked={values[name]}
                onChange={({ currentTarget: { checked } }) => edit({ [name]: checked })}
              />
            ))}
            {memberAdd !== undefined && (
              <CheckField
                label={groupStrings.membersLocked}
                checked={memberAdd === 'admins'}
                onChange={({ currentTarget: { checked } }) => edit({ memberAdd: checked ? 'admins' : 'all' })}
              />
            )}
            {disappearingSeconds !== undefined && (
              <div className="mt-2">
                <SelectField
                  label={groupStrings.disappearing}
                  options={timerOptions(disappearingSeconds)}
                  value={disappearingSeconds}
                  onChange={({ currentTarget: { value } }) => edit({ disappearingSeconds: Number(value) })}
                />
              </div>
            )}
          </fieldset>
          {!canChange && <p className="text-xs text-ink-faint">{groupStrings.adminsOnly}</p>}
        </Form>
      </div>
    </Card>
  );
}

/** The timers that apps offer, and the present one. */
function timerOptions(present: number): readonly (readonly [string, string])[] {
  const offered = Object.entries(groupStrings.disappearingAfter);
  const isOffered = groupStrings.disappearingAfter[present] !== undefined;
  return isOffered ? offered : [...offered, [String(present), duration(present * 1000)]];
}

function Picture({ group: { groupId, subject, pictureMediaId }, canChange }: Omit<AboutProps, 'isAdmin'>) {
  const refresh = useRefresh();
  const toast = useToast();
  const upload = useUpload();
  const set = useMutation({
    mutationFn: async (file: File | null) => {
      const media = file === null ? null : await upload.send(file);
      await api.groups.update({ groupId, pictureMediaId: media?.mediaId ?? null });
    },
    onSuccess: () => {
      toast(groupStrings.pictureSaved);
      return refresh('groups');
    },
    onError: (error) => isCancelled(error) || toast(errorText(error), 'bad'),
  });

  function choose(file: File) {
    const refusal = upload.refusalOf(file);
    if (refusal === undefined) set.mutate(file);
    else toast(refusal, 'bad');
  }

  return (
    <div className="grid justify-items-start gap-2">
      {pictureMediaId !== null && (
        <MediaPicture
          key={pictureMediaId}
          mediaId={pictureMediaId}
          name={groupStrings.pictureOf(displayName(subject))}
        />
      )}
      {canChange && (
        <div className="flex flex-wrap gap-2">
          <FilePicker accept="image/*" onPick={choose}>
            {(open) => (
              <Button size="small" busy={set.isPending} onClick={open}>
                {groupStrings.choosePicture}
              </Button>
            )}
          </FilePicker>
          {pictureMediaId !== null && (
            <Button size="small" look="quiet" disabled={set.isPending} onClick={() => set.mutate(null)}>
              {groupStrings.removePicture}
            </Button>
          )}
        </div>
      )}
      <p role="status" className="text-xs text-ink-soft empty:hidden">
        {upload.sending !== undefined && uploadStatus(upload.sending)}
      </p>
      {upload.sending !== undefined && (
        <div className="w-full max-w-sm">
          <UploadProgress sending={upload.sending} />
        </div>
      )}
    </div>
  );
}
