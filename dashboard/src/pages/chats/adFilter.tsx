import { Button } from '../../components/button.tsx';
import { useCommittedInput } from '../../components/form/committedInput.ts';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { chatStrings } from '../../strings/chats.ts';
import type { AdSearch } from './search.ts';

interface AdFilterProps {
  readonly value: AdSearch;
  readonly onChange: (value: AdSearch) => void;
}

/** Limits the chats and the search to those that came through ads. It is in the address, so that it can be shared. */
export function AdFilter({ value: { ads, adId }, onChange }: AdFilterProps) {
  const strings = chatStrings.adFilter;
  const ad = useCommittedInput(adId ?? '', (text) => onChange({ ads, adId: text.trim() || undefined }));
  return (
    <details open={ads} className="border-b border-line px-3 py-2">
      <summary className="text-sm text-ink-soft">
        {strings.title}
        {ads && <span className="ml-2 font-medium text-ink">{adId ? strings.activeAd(adId) : strings.active}</span>}
      </summary>
      <div className="mt-2 grid grid-cols-1 gap-3 pb-1">
        <SelectField
          label={strings.ads}
          options={strings.options}
          value={ads ? 'ads' : ''}
          onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? {} : { ads: true })}
        />
        {ads && <TextField label={strings.adId} isOptional autoComplete="off" {...ad} />}
        {ads && (
          <Button look="quiet" size="small" className="-ml-2 justify-self-start" onClick={() => onChange({})}>
            {strings.clear}
          </Button>
        )}
      </div>
    </details>
  );
}
