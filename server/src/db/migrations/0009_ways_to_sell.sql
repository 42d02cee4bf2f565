-- Whether each unit of a sold quantity was a license (keys); until now all of them multiplied the machines.
alter table billing_sales add column quantity_as text not null default 'machines'
  constraint billing_sales_quantity_as_check check (quantity_as in ('machines', 'keys'));
