CREATE TABLE item(id INTEGER PRIMARY KEY, grp INTEGER, name TEXT, price REAL);
CREATE TABLE sale(item INTEGER, day INTEGER, amount INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO item SELECT i, i * 7919 % 101, 'item ' || (i * 104729 % 60013), (i * 31 % 997) / 7.0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
INSERT INTO sale SELECT i * 48271 % 60000 + 1, i % 365, i % 13 FROM n;
CREATE INDEX item_name ON item(name);
CREATE INDEX sale_item ON sale(item, day);
SELECT grp, count(*), sum(price * amount), group_concat(DISTINCT day % 7) FROM item JOIN sale ON sale.item = item.id
 GROUP BY grp ORDER BY 3 DESC LIMIT 5;
SELECT count(*) FROM item WHERE name LIKE '%9%7%' AND upper(name) GLOB '*ITEM*';
SELECT day, sum(amount) OVER (ORDER BY day ROWS 30 PRECEDING) FROM sale ORDER BY day, item LIMIT 5;
SELECT a.grp, max(json_array_length(json_array(a.name, b.name))) FROM item a JOIN item b ON b.name = 'item ' || a.id
 GROUP BY a.grp LIMIT 3;
UPDATE item SET price = (SELECT coalesce(sum(amount), 0) FROM sale WHERE item = id), name = replace(name, '1', 'one');
SELECT count(*) FROM (SELECT DISTINCT substr(name, 3, 7) FROM item EXCEPT SELECT name FROM item);
DELETE FROM sale WHERE item IN (SELECT id FROM item WHERE grp % 2);
PRAGMA integrity_check;
