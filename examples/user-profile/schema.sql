-- A forge: people, repositories, pull requests, stars, and who pays. Deletions tell the whole row that was there.

create table "user" (
  email text primary key,
  username text not null unique
);

create table repo (
  owner text,
  name text,
  description text,
  primary key (owner, name)
);

create table pull_request (
  repo text,
  repo_owner text,
  index int,
  title text not null,
  created_at timestamptz(0) not null default now(),
  status text not null default 'open',
  author text not null,
  primary key (repo, repo_owner, index)
);

create table star (
  username text,
  repo_name text,
  repo_owner text,
  primary key (username, repo_name, repo_owner)
);

create table payment_info (
  id bigint primary key,
  email text not null,
  verified boolean not null default false
);

alter table "user" replica identity full;
alter table repo replica identity full;
alter table pull_request replica identity full;
alter table star replica identity full;
alter table payment_info replica identity full;

insert into "user" values
  ('ada@example.com', 'ada'),
  ('grace@example.com', 'grace'),
  ('linus@example.com', 'linus');

insert into repo values
  ('ada', 'engine', 'Notes on the analytical engine'),
  ('grace', 'compiler', 'Words to machine code'),
  ('linus', 'kernel', 'Just a hobby');

insert into pull_request (repo, repo_owner, index, title, created_at, status, author) values
  ('engine', 'ada', 1, 'Compute Bernoulli numbers', '1843-07-10 09:00+00', 'merged', 'ada'),
  ('compiler', 'grace', 1, 'Find the moth', '1947-09-09 15:45+00', 'open', 'ada'),
  ('kernel', 'linus', 1, 'Not just a hobby', '1991-08-25 20:57+00', 'open', 'grace');

insert into star values
  ('ada', 'compiler', 'grace'),
  ('ada', 'kernel', 'linus'),
  ('grace', 'kernel', 'linus'),
  ('linus', 'engine', 'ada');

insert into payment_info values
  (1, 'ada@example.com', true),
  (2, 'grace@example.com', false);
