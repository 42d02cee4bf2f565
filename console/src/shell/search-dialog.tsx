import { SearchBox } from '#console/pages/search/search-box.tsx';
import { Dialog } from '#console/ui/dialog.tsx';

/** The search over everything, above any page. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Search" onClose={onClose}>
      <SearchBox onLeave={onClose} />
    </Dialog>
  );
}
