import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { PagedList } from '../../paged.ts';
import { Button } from '../button.tsx';
import { DataTable, type DataTableProps } from './dataTable.tsx';
import { Card, Page } from './layout.tsx';
import { Empty, Loaded } from './states.tsx';

type ListTableProps<T> = Omit<DataTableProps<T>, 'rows' | 'more'> & { readonly list: PagedList<T> };

/** A table of a list that is read page by page. */
export function ListTable<T>({ list, ...table }: ListTableProps<T>) {
  return <Loaded query={list}>{() => <DataTable {...table} rows={list.rows} more={list.more} />}</Loaded>;
}

interface ListPageProps<T> extends Pick<ListTableProps<T>, 'list' | 'columns' | 'rowKey' | 'rowHeight'> {
  readonly strings: {
    readonly title: string;
    readonly lead: string;
    readonly create: string;
    readonly empty: string;
    readonly emptyHint: string;
  };
  readonly icon: ReactNode;
  readonly onCreate: () => void;
  /** The dialogs of the page. */
  readonly children: ReactNode;
}

/** A page with one list. The button that creates an entry moves into the empty state while there are none. */
export function ListPage<T>({ strings, icon, list, onCreate, children, ...table }: ListPageProps<T>) {
  const create = (
    <Button look="primary" icon={<Plus className="size-4" />} onClick={onCreate}>
      {strings.create}
    </Button>
  );
  return (
    <Page title={strings.title} lead={strings.lead} actions={list.rows.length > 0 && create}>
      <Card flush>
        <ListTable
          {...table}
          list={list}
          label={strings.title}
          empty={
            <Empty icon={icon} title={strings.empty} action={create}>
              {strings.emptyHint}
            </Empty>
          }
        />
      </Card>
      {children}
    </Page>
  );
}
